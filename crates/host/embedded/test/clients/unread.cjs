// Responses that nobody reads give their connections back: there are more of them than connections to one server.
const { ORIGIN } = process.env;
const MANY = 300;

async function main() {
    for (let count = 0; count < MANY; count++) await fetch(`${ORIGIN}/big`);
    console.log(JSON.stringify(["done"]));
    process.exit(0);
}
main();
