-- What wrk sends, and how it tells what came of it; the body is in the environment.
wrk.method = "POST"
wrk.body = os.getenv("BENCH_BODY")
for name, value in string.gmatch(os.getenv("BENCH_HEADERS"), "([^:\n]+):([^\n]+)") do
  wrk.headers[name] = value
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  local format = '{"requests":%d,"seconds":%.6f,"failed":%d,"p50":%.1f,"p99":%.1f}\n'
  local seconds = summary.duration / 1e6
  io.write(string.format(format, summary.requests, seconds, failed, latency:percentile(50), latency:percentile(99)))
end
