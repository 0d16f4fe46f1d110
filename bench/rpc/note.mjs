// The message of the RPC scenarios, in the forms that protocols carry it in.

/** A note whose binary form is some `bytes` long; the least is some 50. */
export function note(bytes = 0) {
  const small = { name: 'bench', id: '71234567', text: 'what a call says', urgent: true, tags: ['a', 'b'] };
  const spare = bytes - binary(small).length;
  return spare > 0 ? { ...small, text: small.text + 'x'.repeat(spare) } : small;
}

/** The binary form, fields in the order of their numbers. */
export function binary({ name, id, text, urgent, tags }) {
  const tag = (number, type) => Buffer.from([(number << 3) | type]);
  const string = (number, value) => [tag(number, 2), varint(BigInt(Buffer.byteLength(value))), Buffer.from(value)];
  return Buffer.concat([...string(1, name), tag(2, 0), varint(BigInt(id)), ...string(3, text), tag(4, 0), varint(urgent ? 1n : 0n), ...tags.flatMap((each) => string(5, each))]);
}

/** The form with gRPC's five bytes before it. */
export function enveloped(message) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function varint(value) {
  const bytes = [];
  for (; value > 127n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  return Buffer.from([...bytes, Number(value)]);
}

/** What is sent for each protocol: fields, and the body's bytes. The answer to it is the same again. */
export const protocols = {
  grpc: { headers: { 'content-type': 'application/grpc', te: 'trailers' }, body: (bytes) => enveloped(binary(note(bytes))) },
  'grpc-web': { headers: { 'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1' }, body: (bytes) => enveloped(binary(note(bytes))) },
  connect: { headers: { 'content-type': 'application/proto', 'connect-protocol-version': '1' }, body: (bytes) => binary(note(bytes)) },
  'connect-json': { headers: { 'content-type': 'application/json', 'connect-protocol-version': '1' }, body: (bytes) => Buffer.from(JSON.stringify(note(bytes))) },
};

export const PATH = '/bench.v1.Echo/Say';
