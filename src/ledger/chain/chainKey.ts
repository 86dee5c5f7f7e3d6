/** The key with which the installation signs blocks: Ed25519, from the secret CHAIN_KEY. */
import {
  createPrivateKey,
  createPublicKey,
  hash,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { type Block, blockBytes, type SealedBlock } from '../domain/chain.ts';
import type { Seal } from '../domain/closings.ts';
import { type SealContent, sealBytes } from '../domain/seals.ts';

export interface ChainKey {
  /** In hexadecimal. */
  readonly publicKey: string;
  sign(what: Signed, digest: string): string;
}

/** What is before the 32 bytes of a key in its standard encodings (RFC 8410). */
const PRIVATE_PREFIX = '302e020100300506032b657004220420';
const PUBLIC_PREFIX = '302a300506032b6570032100';
/** Apart from every other key that could be made from the secret, and from every other signature. */
const PURPOSE = 'tallyhook chain key';
/** A signature of one is none of the other. */
const SIGNED = { block: 'tallyhook chain block\n', closing: 'tallyhook closing\n' } as const;
type Signed = keyof typeof SIGNED;

export function chainKeyOf(secret: string): ChainKey {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', PURPOSE, 32));
  const privateKey = createPrivateKey({
    key: Buffer.concat([Buffer.from(PRIVATE_PREFIX, 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const exported = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return {
    publicKey: exported.subarray(PUBLIC_PREFIX.length / 2).toString('hex'),
    sign: (what, digest) =>
      sign(null, Buffer.from(SIGNED[what] + digest), privateKey).toString('hex'),
  };
}

/** Seals a block: computes its digest, and signs it if there is a key. */
export function sealBlock(block: Omit<Block, 'publicKey'>, key: ChainKey | undefined): SealedBlock {
  const signed: Block = { ...block, publicKey: key?.publicKey ?? null };
  const digest = blockDigest(signed);
  return { ...signed, digest, signature: key?.sign('block', digest) ?? null };
}

function blockDigest(block: Block): string {
  return hash('sha256', blockBytes(block), 'hex');
}

/** Finds whether a block is as it was sealed. */
export function sealProblems(block: SealedBlock): readonly string[] {
  if (blockDigest(block) !== block.digest) {
    return ['it was changed after it was chained: its digest does not match its content'];
  }
  const { publicKey, signature, digest } = block;
  if (publicKey === null && signature === null) return [];
  const isSigned =
    publicKey !== null &&
    signature !== null &&
    isSignature('block', { publicKey, signature, digest });
  return isSigned ? [] : ['its signature is not that of its key'];
}

interface Signature {
  readonly publicKey: string;
  readonly signature: string;
  readonly digest: string;
}

function isSignature(what: Signed, { publicKey, signature, digest }: Signature): boolean {
  let key: KeyObject;
  try {
    const der = Buffer.from(PUBLIC_PREFIX + publicKey, 'hex');
    key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return false;
  }
  return verify(null, Buffer.from(SIGNED[what] + digest), key, Buffer.from(signature, 'hex'));
}

/** Seals a closing with a block that has its last transfer, and that the same key signed. */
export function sealClosing(
  content: SealContent,
  key: ChainKey | undefined,
): Pick<Seal, 'digest' | 'signature'> {
  const digest = hash('sha256', sealBytes(content), 'hex');
  return { digest, signature: key?.sign('closing', digest) ?? null };
}

/** Finds whether a closing is as it was sealed. @param publicKey of the block with which it was sealed */
export function closingProblems(
  content: SealContent,
  { digest, signature }: Seal,
  publicKey: string | null,
): readonly string[] {
  if (hash('sha256', sealBytes(content), 'hex') !== digest) {
    return ['it was changed after it was sealed: its digest does not match its content'];
  }
  if (publicKey === null && signature === null) return [];
  const isSigned =
    publicKey !== null &&
    signature !== null &&
    isSignature('closing', { publicKey, signature, digest });
  return isSigned ? [] : ['its seal is not signed with the key of its block'];
}
