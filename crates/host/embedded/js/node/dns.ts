// node:dns.
import { CODES, QUERIES, lookup, order, refused } from "../leat/dns";
import { validateOneOf } from "../leat/validate";

const dns: Record<string, unknown> = { lookup, ...CODES };
dns["getDefaultResultOrder"] = () => order.value;
dns["setDefaultResultOrder"] = (value: string) => {
    validateOneOf(value, "dnsOrder", ["verbatim", "ipv4first", "ipv6first"]);
    order.value = value;
};
for (const name of [...QUERIES, "Resolver"]) dns[name] = refused(name);
Object.defineProperty(dns, "promises", { configurable: true, enumerable: true, get: () => require("./dns/promises") as unknown });

module.exports = dns;
