const os = require("os");
console.log(os.platform(), os.type(), os.arch(), os.release(), os.version(), os.machine(), os.hostname(), os.endianness(), os.EOL === "\n", os.devNull);
console.log(os.cpus().length, os.availableParallelism(), os.totalmem(), os.homedir(), os.tmpdir(), os.userInfo().username, Object.keys(os.userInfo()).sort().join());
console.log(typeof os.freemem(), typeof os.uptime(), os.loadavg().length, `${os.hostname}` === os.hostname(), os.getPriority());
console.log(os.constants.signals.SIGTERM, os.constants.errno.ENOENT, os.constants.priority.PRIORITY_LOW, Object.keys(os.constants).join());
