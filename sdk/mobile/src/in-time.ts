/** Waits for something for a limited time. @throws Error after that time; a later result is ignored */
export function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer in time')), ms);
    answer.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
