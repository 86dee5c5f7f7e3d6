/** Entry of scripts/ha.sh. */
import { main } from './ha/main.ts';

process.exitCode = await main(process.argv.slice(2));
