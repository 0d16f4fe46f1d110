-- What wrk sends, and a report as one line of JSON. Arguments after `--`: pipeline=N, body=BYTES, json=TEXT, field=NAME: VALUE.

function init(args)
  local settings = {}
  for _, argument in ipairs(args) do
    local name, value = argument:match("^(%a+)=(%d+)$")
    if name then settings[name] = tonumber(value) end
    settings.json = settings.json or argument:match("^json=(.*)$")
    local field, text = argument:match("^field=([^:]+): (.*)$")
    if field then wrk.headers[field] = text end
  end
  if settings.body then
    wrk.method = "POST"
    wrk.body = string.rep("x", settings.body)
  end
  if settings.json then
    wrk.method = "POST"
    wrk.body = settings.json
    wrk.headers["Content-Type"] = "application/json"
  end
  if settings.pipeline then
    local batch = string.rep(wrk.format(), settings.pipeline)
    request = function() return batch end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"p50_us":%.1f,"p95_us":%.1f,"p99_us":%.1f,"p999_us":%.1f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50), latency:percentile(95), latency:percentile(99), latency:percentile(99.9),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
