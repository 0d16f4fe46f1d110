// Processor time and memory of a process and its descendants, from /proc.

import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

let ticks;
/** Clock ticks a second: the unit of /proc/PID/stat. */
export function ticksPerSecond() {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}

/** Parent, and user plus system time in ticks. The command's name may hold spaces and parentheses: count from the last. */
export function parseStat(text) {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
}

/** Resident memory now and at its peak, in kB. */
export function parseStatus(text) {
  const value = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
  return { rss_kb: value('VmRSS'), peak_kb: value('VmHWM') };
}

/** Busy (with steal) and total ticks of one core, from /proc/stat. */
export function parseCore(text, core) {
  const line = new RegExp(`^cpu${core} (.*)$`, 'm').exec(text);
  if (!line) return { busy: NaN, total: NaN };
  const [user, nice, system, idle, iowait, irq, softirq, steal] = line[1].split(' ').map(Number);
  const busy = user + nice + system + irq + softirq + steal;
  return { busy, total: busy + idle + iowait };
}

/** The process and all of its descendants. */
export function tree(root) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = read(`/proc/${name}/stat`);
    if (!stat) continue;
    const { parent } = parseStat(stat);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const all = [root];
  for (let i = 0; i < all.length; i += 1) all.push(...(children.get(all[i]) ?? []));
  return all;
}

/** Seconds of processor time that the tree has used so far. */
export function cpuSeconds(root) {
  const used = tree(root).map((pid) => read(`/proc/${pid}/stat`)).filter(Boolean);
  return used.reduce((sum, stat) => sum + parseStat(stat).ticks, 0) / ticksPerSecond();
}

/** Resident memory of the tree. Pages that its processes share are counted once for each. */
export function memory(root) {
  const parts = tree(root).map((pid) => parseStatus(read(`/proc/${pid}/status`) ?? ''));
  return {
    rss_kb: parts.reduce((sum, part) => sum + part.rss_kb, 0),
    peak_kb: parts.reduce((sum, part) => sum + part.peak_kb, 0),
  };
}

/** Starts to watch a core and a process tree; the function returned says what both did since. */
export function watch(root, core) {
  const coreBefore = parseCore(read('/proc/stat') ?? '', core);
  const cpuBefore = cpuSeconds(root);
  return () => account(cpuSeconds(root) - cpuBefore, coreBefore, parseCore(read('/proc/stat') ?? '', core));
}

/** `busy`: the subject's share of its core; `foreign`: everybody else's, the hypervisor's other guests included. */
export function account(cpu, before, after) {
  const total = (after.total - before.total) / ticksPerSecond();
  const busy = (after.busy - before.busy) / ticksPerSecond();
  return { cpu_s: cpu, busy: cpu / total, foreign: Math.max(0, busy - cpu) / total };
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // The process ended between the listing and now.
  }
}
