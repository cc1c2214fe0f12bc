import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shopPictures } from "../../../playground/shop/pictures.ts";
import { startShop, type Shop } from "../../../playground/shop/shop-server.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.close());

async function get(path: string, method = "GET"): Promise<{ status: number; body: unknown }> {
  const response = await fetch(shop.url + path, { method });
  return { status: response.status, body: await response.json() };
}

describe("shop", () => {
  it("tells an order with its total", async () => {
    expect(await get("/orders/1001")).toMatchObject({
      status: 200,
      body: { id: "1001", status: "shipped", totalCents: 5370, currency: "EUR" },
    });
  });

  it("lists a dozen orders", async () => {
    const { body } = await get("/orders");
    expect((body as { orders: unknown[] }).orders).toHaveLength(12);
  });

  it("names pictures only where somebody can fetch them", async () => {
    const withPictures = await startShop({ pictures: true });
    const response = await fetch(`${withPictures.url}/orders/1003`);
    const { picture } = (await response.json()) as { picture: string };
    await withPictures.close();
    expect([...shopPictures().keys()]).toContain(picture);
    expect((await get("/orders/1003")).body).not.toHaveProperty("picture");
  });

  it("answers 404 in JSON for an unknown order or path, and 405 for a write", async () => {
    expect(await get("/orders/9999")).toEqual({
      status: 404,
      body: { error: "There is no order with this number." },
    });
    expect((await get("/nowhere")).status).toBe(404);
    expect((await get("/orders/1001", "POST")).status).toBe(405);
  });

  it("refunds once for each key, and no more than was paid", async () => {
    const refund = async (key: string, amountCents: number) => {
      const response = await fetch(`${shop.url}/refunds`, {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ orderId: "1001", amountCents }),
      });
      return { status: response.status, body: await response.json() };
    };
    const first = await refund("a", 5000);
    expect(first).toMatchObject({ status: 201, body: { orderId: "1001", amountCents: 5000 } });
    expect(await refund("a", 5000)).toEqual({ status: 200, body: first.body });
    expect((await refund("a", 100)).status).toBe(409);
    expect((await refund("b", 371)).status).toBe(409);
    expect((await refund("b", 370)).status).toBe(201);
    expect((await get("/refunds")).body).toMatchObject({
      refunds: [{ amountCents: 5000 }, { amountCents: 370 }],
    });
  });
});

describe("an order that changes", () => {
  const post = async (path: string, body: unknown = {}) => {
    const response = await fetch(shop.url + path, { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };

  it("is cancelled only while it is in the shop, however often somebody asks", async () => {
    expect(await post("/orders/1012/cancel")).toMatchObject({ status: 200, body: { status: "cancelled" } });
    expect((await post("/orders/1012/cancel")).status).toBe(200);
    expect((await get("/orders/1012")).body).toMatchObject({ status: "cancelled" });
    expect(await post("/orders/1003/cancel")).toMatchObject({
      status: 409,
      body: { error: "It is delivered, so it can't be cancelled." },
    });
    expect((await post("/orders/9999/cancel")).status).toBe(404);
  });

  it("takes another address, which nobody can read", async () => {
    const address = "Main Street 5, Berlin";
    expect((await post("/orders/1009/address", { address })).status).toBe(200);
    expect(shop.orders.addressOf("1009")).toBe(address);
    expect(JSON.stringify((await get("/orders/1009")).body)).not.toContain("Berlin");
    expect((await post("/orders/1009/address", { address: "x" })).status).toBe(400);
    expect((await post("/orders/1001/address", { address })).status).toBe(409);
  });

  it("is taken back once it is delivered, with a reason and a photo", async () => {
    const body = { reason: "broken", photo: "AAEC" };
    expect((await post("/orders/1008/return", { reason: "broken" })).status).toBe(400);
    expect(await post("/orders/1008/return", body)).toMatchObject({ body: { status: "returned" } });
    expect((await post("/orders/1008/return", body)).status).toBe(200);
    expect(shop.orders.returnOf("1008")).toEqual(body);
    expect(await post("/orders/1001/return", body)).toMatchObject({
      status: 409,
      body: { error: "It is shipped, so it can't be returned." },
    });
    expect((await post("/orders/9999/return", body)).status).toBe(404);
  });

  it("says how much of it was refunded, and the shop says what it sells", async () => {
    await fetch(`${shop.url}/refunds`, {
      method: "POST",
      headers: { "idempotency-key": "order-1011" },
      body: JSON.stringify({ orderId: "1011", amountCents: 150 }),
    });
    expect((await get("/orders/1011")).body).toMatchObject({ refundedCents: 150 });
    const { products } = (await get("/products")).body as { products: { name: string }[] };
    expect(products).toContainEqual({ name: "Hand grinder", priceCents: 8900 });
    expect(new Set(products.map(({ name }) => name)).size).toBe(products.length);
  });
});
