-- Indexes for lists alone: alerts by rule or severity, findings by class, and messages to people among those to the
-- shop, which are nearly all. Their condition on the number is true of every row, and no statement but the list's
-- states it, so no other can use them, with any statistics (record 187).
--
-- They read the three tables once, about a second for a million rows. Meanwhile notifications and deliveries wait, and
-- so do events that open or close a finding or an alert. The tables are locked in the order in which workers write to
-- them: findings, alerts, messages. In another one, the migration and a worker could wait for each other.

create index findings_listed_class on findings (class, id) where id > 0;
create index alerts_listed_rule on alerts (rule, id) where id > 0;
create index alerts_listed_severity on alerts (severity, id) where id > 0;
create index messages_to_people on messages (number) where kind <> 'order' and number > 0;
