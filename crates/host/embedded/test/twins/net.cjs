// node:net and node:dns on the loopback.
const net = require("net");
const dns = require("dns");
const os = require("os");
const path = require("path");
const fs = require("fs");

function show(name, work) {
    try {
        console.log(name, work());
    } catch (error) {
        console.log(name, "throws", error.name, error.code, error.message);
    }
}
for (const text of ["127.0.0.1", "1.2.3", "256.1.1.1", "01.1.1.1", "1.2.3.4 ", "::1", "::", "1::2::3", "fe80::1%eth0", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "12345::", "", undefined, "g::1", "::1.2.3", "1:2:3:4:5:6:7::", ":1", "1.2.3.4.5"]) {
    console.log(text, net.isIP(text), net.isIPv4(text), net.isIPv6(text));
}
const list = new net.BlockList();
list.addAddress("1.1.1.1");
list.addRange("10.0.0.1", "10.0.0.9");
list.addSubnet("8592:757c:efae:4e45::", 64, "ipv6");
list.addSubnet("192.168.0.0", 16);
show("list", () => ["1.1.1.1", "10.0.0.5", "10.0.0.10", "192.168.3.4"].map((text) => list.check(text)));
show("list 6", () => [list.check("8592:757c:efae:4e45::1", "ipv6"), list.check("::ffff:1.1.1.1", "ipv6"), list.check("::2", "ipv6")]);
show("rules", () => list.rules);
show("no port", () => net.connect({}));
show("bad port", () => net.connect(70000));

async function main() {
    const events = [];
    const server = net.createServer((socket) => {
        events.push(`server ${socket.remoteAddress === "127.0.0.1"} ${socket.localFamily}`);
        socket.on("data", (chunk) => socket.write(`echo ${chunk}`));
        socket.on("end", () => events.push("server end"));
        socket.on("close", (failed) => events.push(`server close ${failed}`));
    });
    console.log(server.listening, server.address());
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port, address, family } = server.address();
    console.log(server.listening, address, family, port > 0);
    await new Promise((resolve) => {
        const client = net.connect(port, "127.0.0.1");
        console.log(client.connecting, client.pending, client.readyState, client instanceof net.Socket);
        for (const event of ["connect", "ready", "end", "finish"]) client.on(event, () => events.push(event));
        client.setNoDelay(true).setKeepAlive(true, 1000);
        client.setEncoding("utf8");
        client.write("early,");
        client.once("data", (text) => {
            console.log(text, client.bytesRead, client.bytesWritten, client.remotePort === port, client.localAddress, client.readyState);
            client.write("again");
            client.once("data", (more) => {
                console.log(more);
                client.end();
            });
        });
        client.on("close", (failed) => {
            console.log("closed", failed, client.destroyed, client.readyState);
            resolve();
        });
    });
    await new Promise((resolve) => server.getConnections((error, count) => resolve(console.log("connections", error, count >= 0))));
    await new Promise((resolve) => server.close(resolve));
    console.log(events.sort(), server.listening);
    await new Promise((resolve) => server.close((error) => resolve(console.log(error.code, error.message))));
    await new Promise((resolve) => {
        net.connect(port, "127.0.0.1").on("error", (error) => console.log(error.message.replace(port, "PORT"), error.code, error.errno, error.syscall, error.address, error.port === port)).on("close", (failed) => resolve(console.log(failed)));
    });
    const big = Buffer.alloc(3_000_000, "x");
    await new Promise((resolve) => {
        const source = net.createServer((socket) => socket.end(big)).listen(0, "127.0.0.1", () => {
            let count = 0;
            net.connect(source.address().port, "127.0.0.1")
                .on("data", (chunk) => (count += chunk.length))
                .on("close", () => source.close(() => resolve(console.log("big", count))));
        });
    });
    await new Promise((resolve) => {
        const quiet = net.createServer().listen(0, "127.0.0.1", () => {
            const client = net.connect(quiet.address().port, "127.0.0.1", () => {
                client.setTimeout(20, () => {
                    console.log("timeout");
                    client.destroy();
                });
            });
            client.on("close", () => quiet.close(resolve));
            quiet.on("connection", (socket) => socket.on("error", () => {}));
        });
    });
    await new Promise((resolve) => {
        const taken = net.createServer().listen(0, "127.0.0.1", () => {
            const { port: same } = taken.address();
            net.createServer().listen(same, "127.0.0.1").on("error", (error) => {
                console.log(error.message.replace(same, "PORT"), error.code, error.syscall, error.address, error.port === same);
                taken.close(resolve);
            });
        });
    });
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "leat-net-"));
    await new Promise((resolve) => {
        const local = net.createServer((socket) => socket.end("local")).listen(path.join(folder, "s"), () => {
            console.log(local.address() === path.join(folder, "s"));
            net.connect(path.join(folder, "s"))
                .on("data", (chunk) => console.log(String(chunk)))
                .on("close", () => local.close(resolve));
        });
    });
    await new Promise((resolve) => net.connect(path.join(folder, "none")).on("error", (error) => resolve(console.log(error.code, error.message.replace(folder, "")))));
    fs.rmSync(folder, { recursive: true });
    await new Promise((resolve) => dns.lookup("127.0.0.1", (...answer) => resolve(console.log(answer))));
    await new Promise((resolve) => dns.lookup("::1", { all: true }, (...answer) => resolve(console.log(answer))));
    await new Promise((resolve) => dns.lookup("localhost", { family: 4 }, (...answer) => resolve(console.log(answer))));
    console.log(await dns.promises.lookup("localhost", { family: 4 }));
    show("dns", () => dns.lookup(5, () => {}));
    show("dns callback", () => dns.lookup("localhost"));
    const unrefed = net.createServer().listen(0, "127.0.0.1");
    unrefed.unref();
}
main();
