/** Endpoint of the chain of the journal. */
import { z } from 'zod';
import { measureUnchained, readChainHead } from '../../ledger/read/chain.ts';
import { headJson } from '../../representation/chain.ts';
import { defineEndpoint } from '../endpoint.ts';
import { time } from '../schemas.ts';

const whole = z.int().min(0);
const hex = (what: string) => z.string().describe(`${what}, in hexadecimal.`);

export const chainHead = z
  .strictObject({
    head: z.string().describe('Number and digest of the block: enough to compare it later.'),
    block: z.int().min(1),
    form: whole.describe('What the digest of a transfer covers.'),
    previous_digest: hex('Digest of the block before it'),
    after_id: whole.describe('The block has the transfers with a greater number,'),
    through_id: whole.describe('up to and including this one.'),
    transfers: whole,
    total_transfers: whole.describe('Of this block and all before it.'),
    entries_digest: hex('SHA-256 of the numbers and digests of its transfers'),
    history: z.string().describe('The database server and its timeline.'),
    chained_at: time,
    digest: hex('SHA-256 of the block'),
    public_key: hex('Ed25519 key that signed it').nullable(),
    signature: hex('Signature of its digest').nullable(),
  })
  .meta({ id: 'ChainHead' });

export const getChain = defineEndpoint({
  id: 'getChain',
  method: 'get',
  path: '/api/v1/chain',
  permission: 'read',
  summary: 'Get the head of the chain of the journal',
  description:
    'The chain head fixes every transfer up to it. Keep it where nobody who can change the database can, and ' +
    'compare it later with `tallyhook verify --chain --head`.',
  params: z.strictObject({}),
  query: z.strictObject({}),
  response: z
    .strictObject({
      chain_head: chainHead.nullable().describe('Null before the first block.'),
      unchained_transfers: whole.describe('Transfers that are not chained yet; at most 10,000.'),
    })
    .meta({ id: 'Chain' }),
  statuses: [],
  handle: async ({ db }) => {
    const head = await readChainHead(db);
    return {
      outcome: 'ok',
      body: {
        chain_head: head ? headJson(head) : null,
        unchained_transfers: (await measureUnchained(db)).transfers,
      },
    };
  },
});
