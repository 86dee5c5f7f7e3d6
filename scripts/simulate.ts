/** `npm run simulate`: see scripts/simulator/main.ts. */
import { main } from './simulator/main.ts';

process.exitCode = await main(process.argv.slice(2));
