/** How much of the ledger is proven, for people. */
export { type Proof, readProof } from '../store/verifyRounds.ts';
