import { runRoles } from './run.ts';

await runRoles(['alerts']);
