/** Entry of scripts/check-mistakes.sh. */
import { main } from './mistakes/main.ts';

// Vitest and Vite keep timers and watchers of their own.
process.exit(await main(process.argv.slice(2)));
