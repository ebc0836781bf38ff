-- Health of an EtcdBenchmarkSchedule for Argo CD.
-- Degraded: it cannot run, its numbers are worse for good, or its last session did not pass.
local conditions = {}
local status = obj.status or {}
for _, c in ipairs(status.conditions or {}) do
  conditions[c.type] = c
end

for _, kind in ipairs({ "Stalled", "TrendBroken" }) do
  local c = conditions[kind]
  if c ~= nil and c.status == "True" then
    return { status = "Degraded", message = kind .. ", " .. c.reason .. ": " .. (c.message or "") }
  end
end
if status.lastPassed == "False" then
  return { status = "Degraded", message = "The last session missed an objective or regressed" }
end
if obj.spec.suspend == true then
  return { status = "Suspended", message = "spec.suspend is true" }
end
if status.observedGeneration == nil then
  return { status = "Progressing", message = "The operator has not handled it yet" }
end
if status.active ~= nil and status.active ~= "" then
  return { status = "Healthy", message = "The session " .. status.active .. " runs" }
end
return { status = "Healthy", message = "Waits for its next session" }
