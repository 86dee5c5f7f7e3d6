/** The end of the chain, for people. */
export { measureUnchained, readChainHead, type Unchained } from '../store/chain.ts';
