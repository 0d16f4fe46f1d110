import "./shared.cjs";
export let value = "second";
export function change() {
    value = "changed";
}
console.log("second");
await null;
console.log("second after await");
