// What is wrong with a case, seen on the reference.

/** A case that waits for what never comes, ends its process, or has something thrown that its author did not mean (`throws`). */
export function mistakes(reference, { throws = false }) {
    const found = reference.unmet.map((what) => `${what}, on the reference`);
    for (const line of reference.log) {
        if (/^(waited in vain|the server does not close|the process ended)/.test(line)) found.push(line);
        if (/^(threw|uncaught \()/.test(line) && !throws) found.push(`${line}, and the case is not \`throws\``);
    }
    return found;
}
