// What a column means, as data: its heading, which direction is better, how many decimals it is printed with.

export const measures = {
  rps: { title: 'requests/s', better: 'higher', decimals: 0 },
  mb_s: { title: 'MB/s', better: 'higher', decimals: 0 },
  p50_us: { title: 'p50 µs', better: 'lower', decimals: 0 },
  p95_us: { title: 'p95 µs', better: 'lower', decimals: 0 },
  p99_us: { title: 'p99 µs', better: 'lower', decimals: 0 },
  p999_us: { title: 'p99.9 µs', better: 'lower', decimals: 0 },
  cpu_us: { title: 'CPU µs/request', better: 'lower', decimals: 2 },
  rss_mb: { title: 'peak RSS MB', better: 'lower', decimals: 1 },
  syscalls: { title: 'system calls/request', better: 'lower', decimals: 2 },
  crossings: { title: 'crossings/request', better: 'lower', decimals: 3 },
  busy: { title: 'core busy', better: 'neither', decimals: 2 },
  foreign: { title: 'disturbed', better: 'neither', decimals: 2 },
  idle_rss_mb: { title: 'RSS MB', better: 'lower', decimals: 1 },
  empty_rss_mb: { title: 'RSS MB before', better: 'lower', decimals: 1 },
  idle_kb: { title: 'kB/connection', better: 'lower', decimals: 2 },
  held: { title: 'connections held', better: 'higher', decimals: 0 },
  first_answer_ms: { title: 'first answer ms (median)', better: 'lower', decimals: 2 },
  first_answer_worst_ms: { title: 'worst ms', better: 'lower', decimals: 2 },
};
