/** The page that checks packages, in a window of its own. */
export interface Verifier {
  /** Hands a package over, once the page is ready. The package does not leave the browser. */
  check(file: File): Promise<void>;
}

const PAGE = '/verify';
/** Message from the page when it can take a file (verifier-cli/src/browser/handed-over.ts). */
const READY = 'consent-verify ready';

/** Opens the verifier's page. @returns null if the browser refuses to */
export function openVerifier(): Verifier | null {
  const page = window.open(PAGE, '_blank');
  if (page === null) return null;
  const ready = new Promise<void>((resolve) => {
    const listen = ({ source, origin, data }: MessageEvent<unknown>) => {
      if (source !== page || origin !== location.origin || data !== READY) return;
      window.removeEventListener('message', listen);
      resolve();
    };
    window.addEventListener('message', listen);
  });
  return {
    check: async (file) => {
      await ready;
      page.postMessage(file, location.origin);
    },
  };
}
