// Reads what callgrind writes: instructions and calls by function.

/** `{ total, self, calls }` of a file: instructions, and by function's name its own instructions and how often it was called. */
export function parseCallgrind(text) {
  const names = new Map();
  const self = new Map();
  const calls = new Map();
  const nameOf = (told) => {
    const [, number, name] = /^\((\d+)\)(?: (.*))?$/.exec(told) ?? [];
    if (number === undefined) return told;
    if (name !== undefined) names.set(number, name);
    return names.get(number) ?? number;
  };
  let [current, called, total] = ['', undefined, 0];
  for (const line of text.split('\n')) {
    if (line.startsWith('fn=')) current = nameOf(line.slice(3));
    else if (line.startsWith('cfn=')) called = nameOf(line.slice(4));
    else if (line.startsWith('calls=')) add(calls, called, Number(/^calls=(\d+)/.exec(line)[1]));
    else if (/^[\d+*-]/.test(line)) {
      const cost = Number(line.split(' ')[1] ?? 0);
      // The line behind `calls=` has what the callee took, which is the callee's own.
      if (called === undefined) {
        add(self, current, cost);
        total += cost;
      }
      called = undefined;
    }
  }
  return { total, self, calls };
}

/** What `more` has beyond `less`, for each of `requests`; functions in the order of their cost. */
export function each(less, more, requests) {
  const difference = (name, of) => ((more[of].get(name) ?? 0) - (less[of].get(name) ?? 0)) / requests;
  const functions = [...more.self.keys()].map((name) => ({ name, instructions: difference(name, 'self'), calls: difference(name, 'calls') }));
  return { total: (more.total - less.total) / requests, functions: functions.sort((a, b) => b.instructions - a.instructions) };
}

function add(counts, name, more) {
  counts.set(name, (counts.get(name) ?? 0) + more);
}
