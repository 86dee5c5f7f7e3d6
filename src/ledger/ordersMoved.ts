/** Orders that must be locked too; start the transaction over with them. */
export class OrdersMoved extends Error {
  override readonly name = 'OrdersMoved';
  readonly orderKeys: readonly string[];
  constructor(orderKeys: readonly string[]) {
    super('a resource was filed under another order meanwhile');
    this.orderKeys = orderKeys;
  }
}
