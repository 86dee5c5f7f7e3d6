-- Indexes for lists alone: findings by class here, messages to people and alerts by rule or severity in the next two
-- files. Their condition on the number is true of every row, and no statement but the list's states it, so no other
-- can use them, with any statistics (record 187).
--
-- Each file reads one table once, about a second for a million rows. Meanwhile events that open or close a finding
-- wait here; deliveries, and then notifications, in the next ones. One file for all three would hold the first table
-- while it waits for the last: workers write to them in different orders, and the two could wait for each other.

create index findings_listed_class on findings (class, id) where id > 0;
