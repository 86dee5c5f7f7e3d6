export { createPostgresQueueConnections, createRedisConnections } from './connections.ts';
export {
  type Consumer,
  createQueueBackend,
  type NewJob,
  type Producer,
  type QueueBackend,
  type RunningJob,
} from './queue.ts';
