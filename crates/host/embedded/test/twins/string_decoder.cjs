// Characters that arrive in pieces, in every encoding and cut everywhere.
const { StringDecoder } = require("node:string_decoder");
const samples = {
    utf8: ["68c3a9e282acf09f9880", "e282", "f09f98", "c3", "80e2", "e28261", "f0808080", "eda080", "e2e282ac", "ff41", "f09f9880f09f98", "c3c3a9", "efbbbf41"],
    utf16le: ["61006200", "6100", "3dd800de", "3dd86100", "00de3dd8", "3dd83dd800de", "610062"],
    latin1: ["61e9ff"],
    ascii: ["61e9ff"],
    base64: ["616263646566", "6162", "61"],
    base64url: ["fbefff6162", "61"],
    hex: ["616263"],
};
for (const [encoding, list] of Object.entries(samples)) {
    for (const hex of list) {
        const bytes = Buffer.from(hex, "hex");
        for (let size = 1; size <= 4; size++) {
            const decoder = new StringDecoder(encoding);
            const parts = [];
            for (let at = 0; at < bytes.length; at += size) {
                parts.push(decoder.write(bytes.subarray(at, at + size)));
                parts.push(`${decoder.lastNeed}/${decoder.lastTotal}`);
            }
            parts.push(decoder.end());
            console.log(encoding, hex, size, JSON.stringify(parts));
        }
        const decoder = new StringDecoder(encoding);
        console.log(JSON.stringify([decoder.end(bytes), decoder.end(), decoder.write(bytes), decoder.end(bytes)]));
    }
}
for (const encoding of [undefined, null, "", "UTF-8", "ucs2", "binary", "HEX", "nope", 5, {}]) {
    try {
        console.log(String(encoding), new StringDecoder(encoding).encoding);
    } catch (error) {
        console.log(String(encoding), error.name, error.code, error.message);
    }
}
const decoder = new StringDecoder();
for (const value of ["text", 5, null, undefined, new Uint16Array([0x6161]), new DataView(new ArrayBuffer(1)), []]) {
    try {
        console.log(JSON.stringify(decoder.write(value)));
    } catch (error) {
        console.log(error.name, error.code, error.message);
    }
}
console.log(decoder.write(Buffer.from([0xe2])), decoder.lastChar.length, decoder.lastChar[0], decoder.end(Buffer.from([0x82, 0xac])));
