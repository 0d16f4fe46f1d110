// node:dns/promises.
import { CODES, QUERIES, lookupPromise, order, refused } from "../../leat/dns";
import { validateOneOf } from "../../leat/validate";

const dns: Record<string, unknown> = { lookup: lookupPromise, ...CODES };
dns["getDefaultResultOrder"] = () => order.value;
dns["setDefaultResultOrder"] = (value: string) => {
    validateOneOf(value, "dnsOrder", ["verbatim", "ipv4first", "ipv6first"]);
    order.value = value;
};
for (const name of [...QUERIES, "Resolver"]) dns[name] = refused(`promises.${name}`);

module.exports = dns;
