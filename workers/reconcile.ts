import { runRoles } from './run.ts';

await runRoles(['reconcile']);
