/** Entry of scripts/mutate.sh. */
import { main } from './mutation/main.ts';

// Vitest and Vite keep timers and watchers of their own.
process.exit(await main(process.argv.slice(2)));
