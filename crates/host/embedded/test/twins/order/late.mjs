await null; console.log("late runs"); export const late = "late";
