declare module '@iabtechlabtcf/stub' {
  /** Puts `__tcfapi` into the window, which keeps calls until a consent platform answers them. */
  export default function stubTcf(): void;
}
