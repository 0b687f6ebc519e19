-- A small client of the Agent Client Protocol for Neovim 0.7 or newer, run headless by test_neovim.py.
--
-- The environment says what to do: ACP_COMMAND (JSON list), ACP_PROJECT, ACP_FILE (open with an unsaved first line,
-- ACP_UNSAVED), ACP_PROMPT, ACP_OPTION (the kind of the option that is chosen), ACP_REPORT (where the report goes).

local report = { updates = {}, permissions = {}, reads = {}, writes = {} }
local handlers, pending, next_id, partial = {}, {}, 0, ""
local job

local function send(message)
  message.jsonrpc = "2.0"
  vim.fn.chansend(job, vim.json.encode(message) .. "\n")
end

local function request(method, params, on_result)
  next_id = next_id + 1
  pending[next_id] = on_result
  send({ id = next_id, method = method, params = params })
end

local function finish(reason)
  report.reason = reason
  local file = assert(io.open(vim.env.ACP_REPORT, "w"))
  file:write(vim.json.encode(report))
  file:close()
  vim.fn.jobstop(job)
  vim.cmd("qall!")
end

local function buffer_of(path)
  local buffer = vim.fn.bufadd(path)
  vim.fn.bufload(buffer)
  return buffer
end

handlers["fs/read_text_file"] = function(params)
  table.insert(report.reads, params.path)
  if vim.fn.bufexists(params.path) == 0 and vim.fn.filereadable(params.path) == 0 then
    return nil, { code = -32002, message = "Resource not found", data = { uri = params.path } }
  end
  local buffer = buffer_of(params.path)
  local first = (params.line or 1) - 1
  local lines = vim.api.nvim_buf_get_lines(buffer, first, params.limit and first + params.limit or -1, false)
  local ending = vim.bo[buffer].endofline and #lines > 0 and "\n" or ""
  return { content = table.concat(lines, "\n") .. ending }
end

handlers["fs/write_text_file"] = function(params)
  table.insert(report.writes, params.path)
  vim.fn.mkdir(vim.fn.fnamemodify(params.path, ":h"), "p")
  local buffer = buffer_of(params.path)
  local text, has_ending = params.content:gsub("\n$", "")
  vim.bo[buffer].endofline = has_ending == 1
  vim.bo[buffer].fixendofline = false
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, "\n", { plain = true }))
  vim.api.nvim_buf_call(buffer, function()
    vim.cmd("silent write!")
  end)
  return vim.empty_dict()
end

handlers["session/request_permission"] = function(params)
  table.insert(report.permissions, params)
  for _, option in ipairs(params.options) do
    if option.kind == vim.env.ACP_OPTION then
      return { outcome = { outcome = "selected", optionId = option.optionId } }
    end
  end
  return { outcome = { outcome = "cancelled" } }
end

handlers["session/update"] = function(params)
  table.insert(report.updates, params.update)
end

local function receive(message)
  if message.method == nil then
    local on_result = pending[message.id]
    pending[message.id] = nil
    if message.error ~= nil then
      report.error = message.error
      finish("error")
    elseif on_result ~= nil then
      on_result(message.result)
    end
    return
  end
  local handler = handlers[message.method]
  if message.id == nil then
    if handler ~= nil then
      handler(message.params)
    end
  elseif handler == nil then
    send({ id = message.id, error = { code = -32601, message = "Method not found" } })
  else
    local result, failure = handler(message.params)
    send({ id = message.id, result = result, error = failure })
  end
end

local function on_stdout(_, chunks)
  chunks[1] = partial .. chunks[1]
  partial = table.remove(chunks)
  for _, line in ipairs(chunks) do
    receive(vim.json.decode(line, { luanil = { object = true } }))
  end
end

vim.o.swapfile = false
vim.cmd("edit " .. vim.fn.fnameescape(vim.env.ACP_FILE))
local opened = vim.api.nvim_get_current_buf()
vim.api.nvim_buf_set_lines(opened, 0, 1, false, { vim.env.ACP_UNSAVED })

job = vim.fn.jobstart(vim.json.decode(vim.env.ACP_COMMAND), {
  on_stdout = on_stdout,
  on_stderr = function(_, lines)
    report.stderr = (report.stderr or "") .. table.concat(lines, "\n")
  end,
  on_exit = function()
    finish("exit")
  end,
})

local capabilities = { fs = { readTextFile = true, writeTextFile = true }, terminal = false }
request("initialize", { protocolVersion = 1, clientCapabilities = capabilities }, function()
  request("session/new", { cwd = vim.env.ACP_PROJECT, mcpServers = {} }, function(session)
    local prompt = { { type = "text", text = vim.env.ACP_PROMPT } }
    request("session/prompt", { sessionId = session.sessionId, prompt = prompt }, function(result)
      report.stop_reason = result.stopReason
      report.buffer = vim.api.nvim_buf_get_lines(opened, 0, -1, false)
      report.is_modified = vim.bo[opened].modified
      finish("done")
    end)
  end)
end)

vim.defer_fn(function()
  finish("timeout")
end, 60000)
