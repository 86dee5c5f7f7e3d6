-- Alerts by rule and by severity, for lists (00080).

create index alerts_listed_rule on alerts (rule, id) where id > 0;
create index alerts_listed_severity on alerts (severity, id) where id > 0;
