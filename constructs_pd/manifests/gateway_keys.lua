-- Keeps HAProxy's map of API keys as the mounted Secret is. Its arguments: the keys' file, the map, seconds between looks.
-- A line is name:digest, with the SHA-256 digest of a key in hexadecimal digits; empty ones and # comments are passed over.
local keys_file, map, seconds = ...
-- Of an empty key, which a shell makes of a variable that is not set.
local of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
local in_force = {}
local last_words = nil

local function name_and_digest(line)
  local name, digest = line:match("^(%w[%w._-]*):(%x+)$")
  if name and #name <= 63 and #digest == 64 and digest:lower() ~= of_nothing then
    return name, digest:lower()
  end
end

-- Returns the names by digest, and the numbers of lines that say nothing: never what stands in them.
local function read()
  local wanted, wrong, number = {}, {}, 0
  local file = io.open(keys_file, "r")
  if not file then
    return wanted, nil
  end
  for line in file:lines() do
    number = number + 1
    line = line:gsub("%s+$", "")
    if line ~= "" and line:sub(1, 1) ~= "#" then
      local name, digest = name_and_digest(line)
      if name and (wanted[digest] or name) == name then
        wanted[digest] = name
      else
        wrong[#wrong + 1] = number
      end
    end
  end
  file:close()
  return wanted, wrong
end

local function say(count, wrong)
  local words = count .. " in force"
  if wrong == nil then
    words = words .. ", the file cannot be read"
  elseif #wrong > 0 then
    words = words .. ", refused lines: " .. table.concat(wrong, ", ")
  end
  if words ~= last_words then
    core.log(wrong and #wrong == 0 and core.notice or core.warning, "API keys: " .. words)
    last_words = words
  end
end

-- What is no longer there goes first: a key that was taken away is never in force beside what replaced it.
local function reload()
  local wanted, wrong = read()
  local count = 0
  for digest in pairs(in_force) do
    if not wanted[digest] then
      core.del_map(map, digest)
    end
  end
  for digest, name in pairs(wanted) do
    count = count + 1
    if in_force[digest] ~= name then
      core.set_map(map, digest, name)
    end
  end
  in_force = wanted
  say(count, wrong)
end

core.register_init(reload)
core.register_task(function()
  while true do
    core.sleep(seconds)
    -- A task that fails would be the last one, and the keys would stay as they are for good.
    if not pcall(reload) then
      core.log(core.err, "API keys: they could not be reloaded")
    end
  end
end)
