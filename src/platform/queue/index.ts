export { createPostgresQueueConnections, createRedisConnections } from './connections.ts';
export { queueSource } from './gauges.ts';
export type { QueueProblem } from './problem.ts';
export {
  type Consumer,
  createQueueBackend,
  type FailedJob,
  type InspectedQueue,
  type JobCounts,
  type MeasuredQueue,
  type NewJob,
  type Producer,
  type QueueBackend,
  type QueueDepth,
  type RunningJob,
} from './queue.ts';
export { type QueueWatch, watchQueue } from './watch.ts';
