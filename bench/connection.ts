/**
 * One keep-alive connection with at most one request in flight, on a bare socket: an HTTP client
 * would cost more than the server that it measures. Of a reply it reads the status line and the
 * content length, which is all that the servers here need.
 */
import { connect, type Socket } from 'node:net';

export interface Connection {
  send(request: Buffer): void;
  close(): void;
}

export interface ConnectionListener {
  onReply(status: number): void;
  /** The connection, once it was open, ended though nobody closed it. */
  onBroken(): void;
}

const READ_BUFFER_BYTES = 16 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');
/** As the two servers here and most others write it. */
const CONTENT_LENGTH = 'content-length: ';

export function openConnection(port: number, listener: ConnectionListener): Promise<Connection> {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    let received: Buffer = Buffer.alloc(0);
    const read = (chunk: Buffer): void => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const reply = readReply(received);
      if (reply === undefined) {
        // The chunk's memory is the read buffer, which the next read overwrites.
        received = Buffer.from(received);
        return;
      }
      received = Buffer.alloc(0);
      listener.onReply(reply);
    };
    const socket: Socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafeSlow(READ_BUFFER_BYTES),
        callback: (bytes, buffer) => {
          read(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
          return true;
        },
      },
    });
    socket.once('connect', () => {
      isOpen = true;
      resolve({
        send: (request) => {
          socket.write(request);
        },
        close: () => {
          isOpen = false;
          socket.destroy();
        },
      });
    });
    socket.on('error', (error) => {
      reject(error);
      socket.destroy();
    });
    socket.on('close', () => {
      if (isOpen) listener.onBroken();
    });
    socket.on('end', () => socket.destroy());
  });
}

/** The status of a whole reply; undefined while some of it is missing. */
function readReply(received: Buffer): number | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = received.toString('latin1', 0, headEnd);
  const at = head.toLowerCase().indexOf(CONTENT_LENGTH);
  const length = at === -1 ? 0 : Number.parseInt(head.slice(at + CONTENT_LENGTH.length), 10);
  if (received.length < headEnd + HEAD_END.length + length) return undefined;
  return Number(head.slice(9, 12));
}
