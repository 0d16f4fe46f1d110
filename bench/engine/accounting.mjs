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
  const fields = statFields(text);
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

/** Seconds of processor time of this process's children that have ended. */
export function endedChildrenSeconds() {
  const fields = statFields(read('/proc/self/stat') ?? '');
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond();
}

/**
 * Starts to watch both cores: the subject on its own, and on the load's core the load (a child that will have ended)
 * and what stands beside it, such as the origin. The function returned says what everybody did since. `shared`: the subject may use both cores.
 */
export function watch({ subject, beside, core, loadCore, shared = false }) {
  const look = () => {
    const stat = read('/proc/stat') ?? '';
    return {
      subject: cpuSeconds(subject),
      load: endedChildrenSeconds() + beside.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
      core: parseCore(stat, core),
      loadCore: parseCore(stat, loadCore),
    };
  };
  const before = look();
  return () => account(before, look(), ticksPerSecond(), shared);
}

/**
 * `busy`: the subject's share of its core. `foreign`: the share of either core, whichever is more, that was taken by
 * others: other programs, interrupts, other guests of the hypervisor. With `shared` cores nobody knows which core the
 * subject used when, so `foreign` is what others took of both, as a share of one; `busy` may exceed 1.
 */
export function account(before, after, ticks, shared = false) {
  const subject = after.subject - before.subject;
  const load = after.load - before.load;
  const seconds = (core, what) => (after[core][what] - before[core][what]) / ticks;
  const foreign = (core, own) => Math.max(0, seconds(core, 'busy') - own) / seconds(core, 'total');
  return {
    cpu_s: subject,
    busy: subject / seconds('core', 'total'),
    foreign: shared
      ? Math.max(0, seconds('core', 'busy') + seconds('loadCore', 'busy') - subject - load) / seconds('core', 'total')
      : Math.max(foreign('core', subject), foreign('loadCore', load)),
  };
}

/** The largest busy share of the cores over a moment: whether the machine is quiet enough to begin. */
export async function activity(cores, pause) {
  const look = () => { const stat = read('/proc/stat') ?? ''; return cores.map((core) => parseCore(stat, core)); };
  const before = look();
  await pause();
  const after = look();
  return Math.max(...cores.map((_, i) => (after[i].busy - before[i].busy) / Math.max(1, after[i].total - before[i].total)));
}

const statFields = (text) => text.slice(text.lastIndexOf(')') + 2).split(' ');

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // The process ended between the listing and now.
  }
}
