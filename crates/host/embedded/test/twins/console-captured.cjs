// twin: stderr
const { write } = process.stdout;
const captured = [];
process.stdout.write = (text) => captured.push(text);
console.log("captured", { a: 1 });
process.stdout.write = write;
console.log(captured);
process.stderr.write("end of stderr\n");
