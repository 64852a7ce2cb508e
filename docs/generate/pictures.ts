/** How a picture is taken. */
export interface Look {
  readonly colorScheme: "light" | "dark";
  readonly viewport: { readonly width: number; readonly height: number };
  readonly isMobile?: boolean;
  readonly hasTouch?: boolean;
}

/** The looks in which every page is shown. */
export const LOOKS: Readonly<Record<"light" | "dark" | "phone", Look>> = {
  light: { colorScheme: "light", viewport: { width: 1_360, height: 820 } },
  dark: { colorScheme: "dark", viewport: { width: 1_360, height: 820 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};

/** Pages of which there are pictures in `docs/images`. */
export const PICTURED: readonly string[] = ["playground", "login"];

/** A picture is at most so large, in bytes: pages with pictures stay quick, and so does a clone. */
export const PICTURE_BYTES_MAX = 100 * 1024;
