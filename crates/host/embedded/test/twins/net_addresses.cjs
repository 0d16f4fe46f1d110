const { isIP, isIPv4, isIPv6 } = require("node:net");
const texts = ["", "1.2.3.4", "1.2.3.4.", "01.2.3.4", "256.1.1.1", "1.2.3", "0.0.0.0", "255.255.255.255", "::", "::1", "1::", ":1", "1:", ":::", "1::2::3", "fe80::1%eth0", "fe80::1%", "%eth0", "::ffff:1.2.3.4", "::1.2.3.4:5", "1.2.3.4::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "12345::", "g::", "ABCD::ef", " 1.2.3.4", "1.2.3.4\n", "::1\n", "2001:db8::/32", "0::0:0:0:0:0:0:0", "x".repeat(1000)];
for (const text of texts) console.log(JSON.stringify(text.slice(0, 50)), isIP(text), isIPv4(text), isIPv6(text));
console.log(isIP(undefined), isIP(null), isIP(127001), isIP({ toString: () => "::1" }), typeof require("net").Socket);
