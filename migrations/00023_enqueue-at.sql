-- The time of the next enqueue, under the name that code and documentation use.
alter table pending rename column announce_at to enqueue_at;
