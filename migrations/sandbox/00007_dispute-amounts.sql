-- A dispute's amount is an integer, like every amount; it was kept as text.
update sandbox.resources
   set state = jsonb_set(state, '{amount}', to_jsonb((state->>'amount')::bigint))
 where kind = 'dispute' and jsonb_typeof(state->'amount') = 'string';

update sandbox.past_resources
   set state = jsonb_set(state, '{amount}', to_jsonb((state->>'amount')::bigint))
 where kind = 'dispute' and jsonb_typeof(state->'amount') = 'string';
