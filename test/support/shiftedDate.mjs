/**
 * Preloaded into a process, sets its machine's clock: off by CLOCK_SHIFT_MS from the start, or from the
 * first SIGUSR2 on where CLOCK_SHIFTS_LATER is set. Every SIGUSR2 puts it wrong or right again.
 */
const shiftMs = Number(process.env.CLOCK_SHIFT_MS);
let aheadMs = process.env.CLOCK_SHIFTS_LATER === undefined ? shiftMs : 0;
process.on('SIGUSR2', () => {
  aheadMs = aheadMs === 0 ? shiftMs : 0;
});

const { now } = Date;
globalThis.Date = class extends Date {
  constructor(...values) {
    super(...(values.length === 0 ? [now() + aheadMs] : values));
  }
  static now() {
    return now() + aheadMs;
  }
};
