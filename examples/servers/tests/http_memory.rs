//! The memory that an upload takes in the server and in the client, which generates it while sending.
//!
//! The only test of its process, because it measures the process.

use servers::upload::self_test::run;

#[tokio::test]
async fn memory_of_a_64_mib_upload_is_that_of_a_small_one() {
    run(64 << 20).await.unwrap();
}

#[tokio::test]
#[ignore = "takes seconds"]
async fn memory_of_a_1_gib_upload_is_that_of_a_small_one() {
    run(1 << 30).await.unwrap();
}
