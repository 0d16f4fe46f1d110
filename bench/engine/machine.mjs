// What a figure depends on besides the subject: the machine and everybody's version.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';

/** Facts of this machine. */
export function machine() {
  const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? '';
  const system = /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown';
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    virtual: / hypervisor( |$)/.test(flags),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    system,
    kernel: release(),
    load: readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 3).join(' '),
  };
}

/** First line that a command prints that has a digit, on either stream; undefined if it cannot run. */
export function versionLine(command) {
  const { error, stdout, stderr } = spawnSync(command[0], command.slice(1), { encoding: 'utf8' });
  if (error) return undefined;
  const line = `${stdout}\n${stderr}`.split('\n').find((candidate) => /\d/.test(candidate));
  return line?.replace(/ Copyright.*| - https.*/, '').trim();
}

/** The version of a crate in the lock file. */
export function crateVersion(name, lock) {
  return `${name} ${new RegExp(`name = "${name}"\\nversion = "([^"]+)"`).exec(lock)?.[1] ?? 'unknown'}`;
}

/** Whether a tool can be found. */
export function has(tool) {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', tool]).status === 0;
}
