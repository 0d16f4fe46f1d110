-- Asks several limits at once: all are debited, or none is. One run is one step to everybody else.
-- KEYS[i] holds the state of limit i. ARGV has five values for each: its kind, the most there ever is, the interval of
-- one unit (GCRA) or the window (sliding window) in ticks, what the request costs, and how many units are wanted: above
-- the cost, units are lent out, at most half of what is left (GCRA only).
-- Answers: 1 or 0 for admitted or refused; the limit, from 0, of which the least remains, or with the longest wait;
-- what remains of it; when it is whole again, and after what time to try again (-1 for never), both in microseconds; the
-- units that were debited.
-- A tick is an eighth of a microsecond, and time is counted from 2020: whole numbers of a double until 2055.
local TICKS_US, TICKS_MS, TICKS_S, EPOCH_S = 8, 8000, 8000000, 1577836800
local clock = redis.call('TIME')
local now = (tonumber(clock[1]) - EPOCH_S) * TICKS_S + tonumber(clock[2]) * TICKS_US
local NEVER = math.huge

local function gcra(state, most, span, cost, want)
  local tat = tonumber(state or '') or 0
  local debt = math.max(tat - now, 0)
  local all = most * span
  local left = math.max(math.floor((all - debt) / span), 0)
  local units = math.max(math.min(want, math.floor(left / 2)), cost)
  local after = debt + units * span
  if cost > most or after > all then
    local wait = NEVER
    if cost <= most then wait = debt + cost * span - all end
    return false, left, debt, wait
  end
  local value = string.format('%.0f', math.max(tat, now) + units * span)
  return true, math.floor((all - after) / span), after, units, value, after
end

local function window(state, most, span, cost)
  local number = math.floor(now / span)
  local offset = now - number * span
  local kept, before, current = string.match(state or '', '^(%d+):(%d+):(%d+)$')
  kept, before, current = tonumber(kept), tonumber(before), tonumber(current)
  if kept == number then
    -- As they stand.
  elseif kept == number - 1 then
    before, current = current, 0
  elseif kept and kept > number then
    -- The clock stepped back: the window's start.
    number, offset = kept, 0
  else
    before, current = 0, 0
  end
  -- Rounded up: a fraction of a unit is never given away.
  local free = most - current - math.ceil(before * (span - offset) / span)
  local function reset(count)
    if count > 0 then return 2 * span - offset end
    if before > 0 then return span - offset end
    return 0
  end
  if cost > free then
    local wait = NEVER
    if current + cost <= most then
      wait = span * (1 - (most - current - cost) / before) - offset
    elseif cost <= most then
      wait = span - offset + span * (1 - (most - cost) / current)
    end
    return false, math.max(free, 0), reset(current), math.max(wait, 1)
  end
  current = current + cost
  local value = string.format('%.0f:%.0f:%.0f', number, before, current)
  return true, free - cost, reset(current), cost, value, 2 * span - offset
end

local writes, told, refused = {}, nil, nil
for i = 1, #KEYS do
  local at = (i - 1) * 5
  local law = gcra
  if ARGV[at + 1] == 'w' then law = window end
  local state = redis.call('GET', KEYS[i])
  -- The fourth is the units that were debited, or the wait.
  local admitted, left, reset, number, value, ttl =
    law(state, tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5]))
  if admitted then
    if number > 0 then writes[#writes + 1] = { KEYS[i], value, math.ceil(ttl / TICKS_MS) + 1 } end
    if not told or left < told[2] then told = { i - 1, left, reset, number } end
  elseif not refused or number > refused[4] then
    refused = { i - 1, left, reset, number }
  end
end
if refused then
  local wait = -1
  if refused[4] < NEVER then wait = math.ceil(refused[4] / TICKS_US) end
  return { 0, refused[1], refused[2], math.ceil(refused[3] / TICKS_US), wait, 0 }
end
for _, write in ipairs(writes) do
  redis.call('SET', write[1], write[2], 'PX', string.format('%.0f', write[3]))
end
return { 1, told[1], told[2], math.ceil(told[3] / TICKS_US), 0, told[4] }
