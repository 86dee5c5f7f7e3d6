/**
 * What was read before the locks is no longer so; the transaction must be started over, with these
 * orders locked too.
 */
export class OrdersMoved extends Error {
  override readonly name = 'OrdersMoved';
  readonly orderKeys: readonly string[];
  constructor(orderKeys: readonly string[]) {
    super('a resource or order was created or moved by another transaction meanwhile');
    this.orderKeys = orderKeys;
  }
}
