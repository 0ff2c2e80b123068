/** The run must stop: its export was cancelled, erased or taken over. */
export class ExportStopped extends Error {
  override readonly name = 'ExportStopped';
}
