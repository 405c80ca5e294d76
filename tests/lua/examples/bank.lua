#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- bank: transfers of money between accounts. An event is a transfer, or reads
-- an account and its last transfers. Three tables: branches, accounts and
-- transfers.
--
--    sysbench bank.lua --accounts=100000 --threads=8 prepare
--    sysbench bank.lua --accounts=100000 --threads=8 --time=60 run
--    sysbench bank.lua --accounts=100000 check

local int = sysbench.cmdline.ARG_INT
sysbench.cmdline.options = {
   accounts = {"Number of accounts", 10000, int, min = 2, max = 1e9},
   branches = {"Number of branches", 10, int, min = 1, max = 1e6},
   reads = {"Events that only read an account, in percent", 20, int, min = 0,
      max = 100},
}

local START = 1000 -- balance of each account after prepare
local BLOCK = 1000 -- accounts that a thread loads at a time

local rand, types = sysbench.rand, sysbench.sql.type
local opt, con -- the options and the connection of this user

-- All threads execute prepare at the same time. One creates the tables.
local function prepare()
   opt, con = sysbench.opt, sysbench.sql.driver():connect()
   if sysbench.tid == 0 then
      con:query("CREATE TABLE branches (id INTEGER NOT NULL PRIMARY KEY, " ..
         "city VARCHAR(20) NOT NULL)")
      con:query("CREATE TABLE accounts (id INTEGER NOT NULL PRIMARY KEY, " ..
         "branch_id INTEGER NOT NULL, balance INTEGER NOT NULL)")
      con:query("CREATE TABLE transfers (id BIGINT NOT NULL PRIMARY KEY, " ..
         "source INTEGER NOT NULL, target INTEGER NOT NULL, " ..
         "amount INTEGER NOT NULL)")
      con:query("CREATE INDEX transfers_from ON transfers (source, id)")
      con:query("CREATE INDEX transfers_to ON transfers (target)")
      for branch = 1, opt.branches do
         con:query(("INSERT INTO branches VALUES (%d, '%s')"):format(branch,
            rand.string("@@@@@@@@@@")))
      end
   end
   sysbench.parallel.barrier() -- the others wait for the tables
   local loader = con:load("accounts", "id,branch_id,balance")
   -- Tickets are 0, 1, 2 ..., each for one user: a block of accounts.
   local first = sysbench.parallel.ticket("blocks") * BLOCK + 1
   while first <= opt.accounts do
      for row = first, math.min(first + BLOCK - 1, opt.accounts) do
         loader:int(row)
         loader:int(row % opt.branches + 1)
         loader:int(START)
      end
      first = sysbench.parallel.ticket("blocks") * BLOCK + 1
   end
   loader:close()
end

-- Called once before a run: new transfers continue after those in the table.
-- Each sequence that numbers rows needs the two lines with `last`.
function init()
   con = sysbench.sql.driver():connect()
   local last = con:query_row("SELECT MAX(id) FROM transfers")
   sysbench.sequence("transfers", tonumber(last) or 0)
   con:disconnect()
end

local begin, withdraw, deposit, insert, commit -- statements
local source, target, amount, id               -- their parameters
local read_account, account                    -- a query and its parameter
local transfer_ids       -- a sequence: numbers the transfers
local transfer_op, moved -- an operation and a metric

function thread_init()
   opt, con = sysbench.opt, sysbench.sql.driver():connect()
   begin, commit = con:prepare("BEGIN"), con:prepare("COMMIT")
   withdraw = con:prepare("UPDATE accounts SET balance = balance - ? " ..
      "WHERE id = ?", "withdraw") -- the name in the report
   deposit = con:prepare("UPDATE accounts SET balance = balance + ? " ..
      "WHERE id = ?", "deposit")
   insert = con:prepare("INSERT INTO transfers VALUES (?, ?, ?, ?)", "insert")
   source, target = insert:bind_create(types.INT), insert:bind_create(types.INT)
   amount, id = insert:bind_create(types.INT), insert:bind_create(types.BIGINT)
   withdraw:bind_param(amount, source)
   deposit:bind_param(amount, target)
   insert:bind_param(id, source, target, amount)
   read_account = con:prepare("SELECT b.city, a.balance, t.amount FROM " ..
      "accounts a JOIN branches b ON b.id = a.branch_id LEFT JOIN " ..
      "transfers t ON t.source = a.id WHERE a.id = ? ORDER BY t.id DESC " ..
      "LIMIT 10", "read_account")
   account = read_account:bind_create(types.INT)
   read_account:bind_param(account)
   transfer_ids = sysbench.sequence("transfers")
   transfer_op = sysbench.op("transfer")
   moved = sysbench.metric("moved", {unit = "EUR",
      help = "amounts of the transfers that were committed"})
end

-- If the server refuses a transaction (a deadlock, for example), sysbench rolls
-- it back, counts the error and calls event() again, which draws another
-- transfer.
function event()
   if rand.uniform(1, 100) <= opt.reads then
      account:set(rand.default(1, opt.accounts))
      read_account:execute()
      return
   end
   local euros = rand.uniform(1, 100)
   source:set(rand.default(1, opt.accounts))
   target:set(rand.default(1, opt.accounts))
   amount:set(euros)
   id:set(transfer_ids:next())
   local token = transfer_op:start()
   begin:execute()
   withdraw:execute()
   deposit:execute()
   insert:execute()
   commit:execute()
   transfer_op:finish(token)
   moved:add(euros)
end

function thread_done()
   con:disconnect()
end

-- Transfers move money; they must not create or lose any.
local function check()
   con = sysbench.sql.driver():connect()
   local rows, wrong = con:query_row("SELECT COUNT(*), SUM(CASE WHEN " ..
      "balance <> " .. START .. " + (SELECT COALESCE(SUM(amount), 0) FROM " ..
      "transfers WHERE target = a.id) - (SELECT COALESCE(SUM(amount), 0) " ..
      "FROM transfers WHERE source = a.id) THEN 1 ELSE 0 END) FROM accounts a")
   if tonumber(rows) ~= sysbench.opt.accounts then
      error(rows .. " accounts, but --accounts=" .. sysbench.opt.accounts, 0)
   elseif tonumber(wrong) ~= 0 then
      error(wrong .. " of " .. rows .. " balances contradict the transfers", 0)
   end
   print("All " .. rows .. " balances agree with the transfers")
end

-- A command that sysbench.cmdline.commands does not name is the global function
-- of its name, in one thread.
function cleanup()
   con = sysbench.sql.driver():connect()
   for _, name in ipairs{"branches", "accounts", "transfers"} do
      con:query("DROP TABLE IF EXISTS " .. name)
   end
end

sysbench.cmdline.commands = {
   prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND},
   check = {check},
}
