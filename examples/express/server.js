// Starts the app, and ends it in peace.
const app = require("./app");

const server = app.listen(Number(process.env.PORT ?? 3000), process.env.HOST ?? "127.0.0.1", (error) => {
    if (error) throw error;
    const { address, port } = server.address();
    console.log(`short links on http://${address}:${port}`);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => server.close(() => process.exit()));
}
