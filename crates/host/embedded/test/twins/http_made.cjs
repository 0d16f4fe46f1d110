// Responses that a program makes by itself, as test tools and adapters of functions do: on a stream, on none, and by hand.
const http = require("node:http");
const { Writable } = require("node:stream");

const shown = (text) => text.replace(/Date: [^\r]*/, "Date");

class Null extends Writable {
    text = "";
    _write(chunk, encoding, callback) {
        this.text += chunk;
        callback();
    }
}

function made(method, act) {
    const res = new http.ServerResponse({ method, headers: {}, httpVersionMajor: 1, httpVersionMinor: 1 });
    const socket = new Null();
    res.on("finish", () => console.log(method, "finish", shown(socket.text), res.writableFinished, res.socket === socket));
    res.on("close", () => console.log(method, "close", res.destroyed));
    res.assignSocket(socket);
    console.log(socket._httpMessage === res);
    act(res);
    return { res, socket };
}

made("GET", (res) => {
    res.setHeader("X-A", "1");
    res.end("hello");
});
const { res, socket } = made("POST", (res) => {
    res.writeHead(201, { "X-B": "2" });
    console.log(res.write("one"), res.write(Buffer.from("two")));
    res.addTrailers({ "X-T": "3" });
    res.end("three", () => console.log("ended"));
});
made("HEAD", (res) => res.end("nothing of it"));

setImmediate(() => {
    try {
        new http.ServerResponse({ method: "GET" }).assignSocket(socket);
    } catch (error) {
        console.log(error.code);
    }
    socket.destroy();
    socket.on("close", () => {
        res.detachSocket(socket);
        console.log(res.socket, socket._httpMessage);
        later();
    });
});

function later() {
    // Without a socket everything waits.
    const res = new http.ServerResponse({ method: "GET", headers: {}, httpVersionMajor: 1, httpVersionMinor: 0 });
    res.on("finish", () => console.log("finish"));
    res.end("waits");
    console.log(res.finished, res.writableFinished, res.headersSent, res.outputData.length > 0, shown(res._header));
    const socket = new Null();
    res.assignSocket(socket);
    setImmediate(() => console.log(shown(socket.text)));
}

// As light-my-request: a class of its own over the constructor, called without `new`.
function Injected(done) {
    http.ServerResponse.call(this, { method: "GET", httpVersionMajor: 1, httpVersionMinor: 1 });
    this.parts = [];
    this.assignSocket(new Null());
    this.once("finish", () => done(this));
}
Object.setPrototypeOf(Injected.prototype, http.ServerResponse.prototype);
Object.setPrototypeOf(Injected, http.ServerResponse);
Injected.prototype.write = function write(data, encoding, callback) {
    this.parts.push(Buffer.from(data, encoding));
    return http.ServerResponse.prototype.write.call(this, data, encoding, callback);
};
new Injected((res) => console.log("injected", res.statusCode, Buffer.concat(res.parts).toString(), res.getHeaders(), /\r\nTransfer-Encoding: ([^\r]*)/.exec(res._header)?.[1])).writeHead(202).write("part");
const injected = new Injected((res) => console.log("injected", res.parts.length, res.getHeader("x-y")));
injected.setHeader("X-Y", "z");
injected.end();
