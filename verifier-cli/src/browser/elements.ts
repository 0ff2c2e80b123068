/** Returns the element of the page with this id. @throws Error if the page does not belong to this script */
export function find<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

/** @param id identifier of a button */
export function onClick(id: string, act: () => void): void {
  find(id, HTMLButtonElement).addEventListener('click', act);
}

/** Offers some content for download. */
export function save(name: string, type: string, content: string | Uint8Array<ArrayBuffer> | Blob): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has started by the next turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(url));
}
