-- Health of an EtcdBenchmark and of an EtcdBenchmarkSuite for Argo CD.
-- Healthy: it did all of its work, and missed nothing. Degraded: everything else that has ended.
local function condition(kind)
  if obj.status ~= nil and obj.status.conditions ~= nil then
    for _, c in ipairs(obj.status.conditions) do
      if c.type == kind then
        return c
      end
    end
  end
  return {}
end

local function health(status, reason, c)
  local message = reason
  if c.message ~= nil and c.message ~= "" then
    message = message .. ": " .. c.message
  end
  return { status = status, message = message }
end

local finished, passed = condition("Finished"), condition("Passed")
if finished.status == nil then
  return { status = "Progressing", message = "The operator has not handled it yet" }
end
if finished.status ~= "True" then
  return health("Progressing", finished.reason, finished)
end
if finished.reason ~= "Completed" then
  return health("Degraded", finished.reason, finished)
end
if passed.status ~= nil and passed.status ~= "True" then
  return health("Degraded", passed.reason, passed)
end
return health("Healthy", finished.reason, finished)
