-- The chain of the journal: blocks of transfers, each with the digest of the block before it, so that a
-- transfer that is edited, removed or inserted later is found. docs/decisions/0122-chain-of-the-journal.md
-- A new table, and columns and a further phase in the small tables of verify: no lock on anything that
-- events wait for. The schedule `chain` adds existing transfers in small steps.

create table chain_blocks (
  number bigint primary key check (number > 0),
  -- Which columns of a transfer its digest covers, and how they are written.
  form integer not null,
  previous_digest bytea not null unique check (octet_length(previous_digest) = 32),
  -- Transfers with an id greater than `after_id`, up to and including `through_id`.
  after_id bigint not null,
  through_id bigint not null,
  transfers integer not null check (transfers >= 0),
  -- Of this block and all before it.
  total_transfers bigint not null,
  -- Id (8 bytes) and digest (32 bytes) of each transfer, in the order of the ids.
  entries bytea not null,
  -- The server and its timeline: it changes with a restore and with a failover.
  history text not null,
  chained_at timestamptz not null,
  -- Ed25519. Null while the installation has no CHAIN_KEY.
  public_key bytea check (octet_length(public_key) = 32),
  signature bytea check (octet_length(signature) = 64),
  digest bytea not null check (octet_length(digest) = 32),
  check (through_id >= after_id),
  check (octet_length(entries) = 40 * transfers),
  check ((public_key is null) = (signature is null))
);
-- Digests cannot be compressed.
alter table chain_blocks alter column entries set storage external;
create trigger chain_blocks_append_only before update or delete or truncate on chain_blocks
  for each statement execute function refuse_change();

-- Appends a block. No role may insert one in another way, and only the next one is accepted, so the chain
-- has no forks and no gaps.
create function append_chain_block(
  number bigint, form integer, previous_digest bytea, after_id bigint, through_id bigint, transfers integer,
  total_transfers bigint, entries bytea, history text, chained_at timestamptz, public_key bytea,
  signature bytea, digest bytea) returns void
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  last record;
begin
  select b.number, b.through_id, b.total_transfers, b.digest into last
    from chain_blocks b order by b.number desc limit 1;
  if append_chain_block.number <> coalesce(last.number, 0) + 1
     or append_chain_block.after_id <> coalesce(last.through_id, 0)
     or append_chain_block.total_transfers
        <> coalesce(last.total_transfers, 0) + append_chain_block.transfers
     or append_chain_block.previous_digest <> coalesce(last.digest, decode(repeat('00', 32), 'hex')) then
    raise exception 'block % does not continue the chain, which ends with block %',
      append_chain_block.number, coalesce(last.number, 0) using errcode = '23514';
  end if;
  insert into chain_blocks
    values (number, form, previous_digest, after_id, through_id, transfers, total_transfers, entries,
            history, chained_at, public_key, signature, digest);
end $$;
revoke execute on function append_chain_block(
  bigint, integer, bytea, bigint, bigint, integer, bigint, bytea, text, timestamptz, bytea, bytea, bytea)
  from public;

-- Names the server and its timeline. Some providers withhold one or the other.
create function server_history() returns text language plpgsql stable as $$
declare
  server text := '';
  timeline text := '';
begin
  begin
    select system_identifier::text into server from pg_control_system();
  exception when others then
    server := '';
  end;
  begin
    timeline := ltrim(substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), '0');
  exception when others then
    timeline := '';
  end;
  return server || '/' || timeline;
end $$;

-- verify proves the blocks by their numbers.
alter table verify_ranges drop constraint verify_ranges_phase_check;
alter table verify_ranges add constraint verify_ranges_phase_check
  check (phase in ('inbox', 'resources', 'orders', 'changes', 'sums', 'closings', 'blocks'));
alter table verify_position add column block_number bigint not null default 0;
alter table verify_rounds add column block_number bigint not null default 0;
